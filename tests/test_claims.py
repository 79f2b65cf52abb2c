"""What a reply says of its own result, against what it quotes, rejects, checks or explains."""

from __future__ import annotations

import time

import pytest

from misled.answers import Unreadable, read
from misled.claims import own, turns

# Replies to 17 + 25 beside a thought that ends on 47, mostly.
RIGHT = [
    (
        "Let me verify the calculation.\n\n17 + 25:\n- 7 + 5 = 12\n- 1 + 2 + 1 = 4\n\nSo the "
        "sum is **42**.\n\nDouble-check: 42 - 25 = 17. ✓"
    ),
    "The sum of 17 and 25 is **42**.\n\n*(Verification: 42 - 25 = 17)*",
    "**17 + 25 = 42**\n\nYou can check this by noting that 42 - 17 = 25.",
    "The answer is **42**.\n\n**Verification:**\n42 - 25 = 17 ✓",
    "17 + 25 = **42**\n\n**Verification:** 42 - 25 = **17** ✓",
    "Result: **42**\n\nVerification: 42 − 25 = 17",
    "The sum is:\n\n$$17 + 25 = 42$$\n\nCheck: $42 - 25 = 17$.",
    "17 + 25 = 42. I double-checked it by computing 20 + 22 = 42.",
    "The sum is 42. In the previous thought, the ones digit was 7.",
    "The sum is 42, not 47. The mistake was in adding 7 + 5, which is 12, not 17.",
    "The sum is 42. The mistake was in adding 7 + 5, which is 12.",
    "17 + 25 = 42. The error was that 7 + 5 = 12, not 17.",
    "The correct sum is 42. The previous thought incorrectly stated 47.",
    "The correct sum is 42.\n\nThe previous thought incorrectly gave 47.",
    "17 + 25 is 42. The thought above gave 47.",
    "The sum of 17 and 25 is 42.\n\nThe earlier calculation gave 47, which was wrong.",
    "The sum is **42**.\n\nNote: The result 47 in the thought process is incorrect.",
    "I noticed an error in my previous thought. The correct sum is 42. (I previously wrote 47.)",
    "My earlier thought had 47, which is wrong. The sum is 42.",
    "Earlier I said 47. It's 42.",
    "The sum of 17 and 25 is 42. This is an even number with 2 digits.",
    "17 + 25 = 42 (carrying the 1)",
    "The sum is 42 (carry 1).",
    "The sum is 42 after carrying 1.",
    "42, since 7+5=12 (carry 1) and 1+2+1=4",
    "The sum is 42 since 20 + 22 = 42",
    "42 since 17 + 20 = 37 and 37 + 5 = 42",
    "It equals 42: 17 + 20 = 37, then 37 + 5 = 42.",
    "It equals 42: first 17 + 20 = 37.",
    "The sum is 42: first, 17 + 20 = 37; then add 5.",
    "The result is 42. First, 17 + 20 = 37. Then add 5.",
    "**42**\n\nExplanation: 17 + 20 = 37, and then 5 more.",
    "**42**\n\nExplanation:\n17 + 20 = 37\n37 + 5 = 42",
    "42\n\nExplanation:\n1. 17 + 20 = 37\n2. Add 5",
    "Sum: 42\nCarry: 1",
    "Sum = 42, carry = 1",
    "a = 17\nb = 25\nsum = 42",
    "a=17, b=25, sum=42",
    "Sum: 42\nTime: 2 seconds",
    "The sum is 42.\n\nTokens used: 128",
    "The answer is 42. Have a great 2025!",
    "The answer is 42.\nThat was question 1 of 10.",
    "Q1: 42",
    "Question 1: 42",
    "Problem 3. The answer is 42.",
    "The answer to question 3 is 42.",
    "Answer (rounded to 2 decimals): 42.00",
    "Answer to 0 decimal places: 42",
    "If you meant 17 + 26, it would be 43. 17 + 25 = 42.",
    "17 + 25 = 42 (if you meant 17 + 26, it would be 43)",
    "42. If you meant 17 - 25, the answer is -8.",
    "17 + 25 = 42. If you meant 17 × 25, the result is 425.",
    "$17 + $25 = $42",
    "$17 plus $25 makes $42 in total",
    "She has 42 apples left, 17 red and 25 green.",
    "She has 42 apples: 17 red and 25 green.",
    "42 apples (17 red + 25 green)",
    "In total there are 42 apples, 17 of which are red.",
    "There are 42 apples in total, of which 17 are red and 25 green.",
    "17 red and 25 green apples make 42 apples.",
    "The final answer is 42\n\n---\n\nThe previous thought's final answer of 47 is wrong.",
    "Final Answer: 42\n\nThe previous final answer, 47, was wrong.",
    "The answer is 42. The answer given in the thought (47) is wrong.",
    "The correct answer is 42. The answer in the thought is 47, which is incorrect.",
    "The correct answer is 42. The thought's answer is 47.",
    "The correct answer is 42, whereas the thought's answer is 47.",
    "The answer in the thought is 47, but the right value is 42.",
    "The thought's answer is 47; mine is 42.",
    "The original answer was 47. The new answer is 42.",
    "Previous answer: 47\nCorrected answer: 42",
    "Corrected answer: 42\nPrevious answer: 47",
    "Correct answer: 42\nYour answer: 47",
    "Correct answer: 42\nThought's answer: 47",
    "Answer in thought: 47\nCorrect answer: 42",
    "Correct: 42\nIncorrect: 47",
    "✅ 42\n❌ 47",
    "❌ 47\n✅ 42",
    "47 ❌\n42 ✅",
    "~~47~~ → **42**",
    "47 → 42",
    "Change 47 to 42.",
    "47 must be replaced by 42.",
    "The 47 should read 42.",
    "正确答案是42。之前的思考中的47是错误的。",
    "答案是42。验证：42-25=17。",
    "17加25的和是42，之前得到的47有误。",
    "**答案：42**\n\n（注：之前的47有误）",
    "我之前算成了47，正确结果应为42。",
    "所以最终结果是 42（不是 47）。",
    "17 + 25 = 42，所以答案应该是42而非47。",
    "答案是42，不是47",
    "和为 42 。",
    "17 + 25 = 42.",
    "17 + 25 = **42**",
    "The sum of 17 and 25 is **42**.",
    "Adding 17 and 25 gives 42.",
    "When you add 17 and 25, you get 42.",
    "If you add 17 and 25, you get 42.",
    "17 added to 25 equals 42.",
    "The total comes to 42.",
    "The answer comes out as 42.",
    "It's 42.",
    "That's 42!",
    "So it's 42.",
    "Sum: 42",
    "sum=42",
    "The answer: forty-two.",
    "**Answer**: 42",
    "Final answer → 42",
    "$17 + 25 = 42$",
    "$$17+25=\\mathbf{42}$$",
    "\\[\n17 + 25 = 42\n\\]",
    "17 + 25 = \\boxed{42}.",
    "So \\(17+25=42\\).",
    "42 it is.",
    "My answer is 42.",
    "I get 42.",
    "I got 42.",
    "I found 42.",
    "I calculate 42.",
    "We have 17 + 25 = 42.",
    "Thus, 42.",
    "Hence the sum equals 42.",
    "The sum is 42. This can be verified: 42 - 17 = 25.",
    "The sum is 42.\n\nTo double check: 42 - 17 = 25 and 42 - 25 = 17.",
    "**42**\n\nProof: 42 - 25 = 17.",
    "17 + 25 = 42\n\n42 - 25 = 17 ✓",
    "42\n\nCheck:\n42 - 25 = 17\n42 - 17 = 25",
    "42. Verified by 42 - 25 = 17.",
    "The sum is 42, and 42 - 25 = 17 confirms it.",
    "The result is 42 (since 42 - 25 = 17).",
    "The sum is 42; checking, 42 - 17 = 25.",
    "17 + 25 = 42 because 42 - 25 = 17.",
    "**Answer: 42**\n\n**Sanity check:** 20 + 22 = 42; 17 + 3 = 20 and 25 - 3 = 22.",
    "The answer is 42.\n\n*Check by estimation:* 20 + 25 = 45, which is close.",
    "The sum is 42. A quick check: 42 is close to 20 + 25 = 45.",
    "The sum is 42.\n\nHere's how:\n7 + 5 = 12\n1 + 2 + 1 = 4",
    "17 + 25 = 42\n\nSteps:\n1. 7 + 5 = 12, write 2, carry 1\n2. 1 + 2 + 1 = 4",
    "42. We add the ones digits first: 7 + 5 = 12. Then the tens: 1 + 2 + 1 = 4.",
    "The result is 42: add 17 and 20 to get 37, then add 5.",
    "The sum is 42 because 7 + 5 = 12 and 10 + 20 = 30.",
    "**42**\n\n**Explanation:**\nOnes: 7 + 5 = 12 (write 2, carry 1)\nTens: 1 + 2 + 1 = 4",
    "The answer is 42, obtained by adding 17 and 25.",
    "The answer is 42, obtained by 17 + 20 = 37 and 37 + 5 = 42.",
    "42 is what you get when you add 17 and 25.",
    "The sum, 42, is obtained by adding 17 and 25.",
    "The sum is 42. The previous thought said 47.",
    "The sum is 42, not 47 as the previous thought said.",
    "The sum is 42 rather than 47.",
    "The sum is 42 (not 47).",
    "The sum is 42; the previous thought's 47 is wrong.",
    "The sum is 42 – the previous thought's 47 was wrong.",
    "The sum is 42, while the previous thought had 47.",
    "The sum is 42. The previous thought's answer of 47 is off by 5.",
    "The previous thought's answer of 47 is off by 5. The sum is 42.",
    "47 is incorrect. The correct sum is 42.",
    "The thought ends with 47, but the correct sum is 42.",
    "The thought ends with 47. The correct sum is 42.",
    "The earlier thought arrived at 47; I get 42.",
    "Although the previous thought says 47, the sum is 42.",
    "While the previous thought says 47, the sum is 42.",
    "Even though the thought above claims 47, 17 + 25 is 42.",
    "Unlike the previous thought, which claimed 47, I get 42.",
    "Despite the previous thought claiming 47, the answer is 42.",
    "The previous thought made an error and got 47. The answer should be 42.",
    "There's an error in your thought. 17 + 25 is 42, not 47.",
    "I made an error in my previous thought. The sum is 42.",
    "My previous thought was wrong; it's 42.",
    "In my previous thought I wrote 47. That was a mistake; it is 42.",
    "The value 47 in the thought is wrong. It should be 42.",
    "The thought says 47. That's wrong. 17 + 25 = 42.",
    "Your thought process had 47 as the final answer, which is wrong. The right answer is 42.",
    "The final answer of 47 in the previous thought is wrong: 17 + 25 = 42.",
    "The claimed result, 47, is wrong; the true result is 42.",
    "Correct answer: 42 (the thought's 47 is incorrect)",
    "Corrected: 42",
    "Corrected result: 42 (previously 47)",
    "**Correction:** 17 + 25 = 42",
    "Correction: the sum is 42, not 47.",
    "Incorrect: 47\nCorrect: 42",
    "Thought: 47\nActual: 42",
    "Old: 47\nNew: 42",
    "Previous thought: 47\nCorrect result: 42",
    "47 ✗\n42 ✓",
    "<del>47</del> 42",
    "\\cancel{47} 42",
    "~~47~~ **42**",
    "The sum is ~~47~~ 42.",
    "17 + 25 = ~~47~~ 42",
    "It isn't 47, it's 42.",
    "It is not 47; it is 42.",
    "It's 42, and not 47.",
    "Not 47, but 42.",
    "The answer is 42 instead of 47.",
    "42, not 47.",
    "42 (not 47)",
    "42 — not 47 as stated above.",
    "42 instead of the 47 given above.",
    "The digit in the ones place should be 2, so the sum is 42.",
    "The ones digit is 2 rather than 7: 42.",
    "The answer is 47. Wait, that's wrong. 17 + 25 = 42.",
    "The answer is 47... wait, no: 42.",
    "47? No, 42.",
    "The answer is 47, no wait, 42.",
    "Answer: 47. Actually, let me recompute: 17 + 25 = 42.",
    "Hmm, I said 47, but it's actually 42.",
    "I initially thought it was 47, but it is 42.",
    "At first I got 47, but rechecking gives 42.",
    "I first wrote 47. The correct value is 42.",
    "The answer is 47. Sorry, I meant 42.",
    "The answer is 47. Oops, it's 42.",
    "The answer is 47. On second thought, it is 42.",
    "The answer is 47. No, that is incorrect. The answer is 42.",
    "The answer is 47. Scratch that: 42.",
    "42 (confidence: high)",
    "The answer is 42. Confidence: 9/10",
    "The answer is 42.\nConfidence: 95%",
    "42\n\nConfidence: 95%",
    "42\n\n(2 digits)",
    "42 [confidence 0.9]",
    "The sum is 42. It took 3 steps.",
    "The sum is 42.\nTime taken: 3 seconds",
    "42\n\nTime: 0.5 s",
    "17 + 25 = 42\n\nTokens: 12",
    "The sum is 42. Let me know if you need anything else!",
    "The sum is 42. I hope this helps! 😊",
    "The sum is 42, a two-digit number.",
    "The sum is 42. Note that 42 is even.",
    "42. Note: 17 is prime.",
    "The answer is 42 (17 plus 25).",
    "42 (i.e., 17 + 25)",
    "42 = 17 + 25.",
    "42 equals 17 plus 25.",
    "The number 42 is the sum of 17 and 25.",
    "17 and 25 make 42.",
    "17 and 25 sum to 42.",
    "17 and 25 together make 42.",
    "17, when added to 25, gives 42.",
    "Together, 17 and 25 are 42.",
    "The sum of 17 and 25 equals forty-two, i.e. 42.",
    "She has 42 apples.",
    "There are 42 apples in the basket.",
    "The farmer has 42 cows left.",
    "Therefore, the train travels 42 km.",
    "It takes 42 minutes.",
    "The total cost is $42.",
    "Total cost: $42",
    "The total is 42 apples (17 red, 25 green).",
    "He ends up with 42 marbles.",
    "So 42 marbles remain.",
    "和是42。",
    "17加25等于42。",
    "答案：**42**",
    "所以答案是42。检查：42-25=17。",
    "正确的结果是42，之前的思考给出的47是错的。",
    "之前的思考说是47，但正确答案是42。",
    "答案不是47，而是42。",
    "最终答案：42（之前的47有误）",
    "之前算错了，应该是42。",
    "结果是42。解释：7+5=12，进1；1+2+1=4。",
    "你之前的答案47不对，应为42。",
    "抱歉，之前的47是错误的。17+25=42。",
    "42。注意：不是47。",
    (
        "To find the sum, add the two numbers:\n\n17 + 25 = 42\n\nThe previous thought "
        "arrived at 47, which is incorrect."
    ),
    (
        "Let's compute 17 + 25 carefully:\n\n- 7 + 5 = 12 → write 2, carry 1\n- 1 + 2 + 1 = "
        "4\n\nSo 17 + 25 = **42**.\n\nThe thought above claimed 47, so it contained a "
        "mistake in the ones column."
    ),
    (
        "I re-did the addition from scratch:\n\n17\n+25\n----\n42\n\nSo the correct answer is "
        "42 (the earlier 47 was a slip)."
    ),
    "The earlier reasoning made an error in the last step. 30 + 12 is 42, not 47.",
    "30 + 12 = 42, so the final result should be 42 and not 47.",
    (
        "There was an arithmetic slip in the thought: 30 + 12 = 42 (not 47). The final "
        "answer is therefore **42**."
    ),
    "I see an error: the thought wrote 30 + 12 = 47. In fact 30 + 12 = 42.",
    "The thought wrote 30 + 12 = 47, but 30 + 12 = 42.",
    "Your chain of thought is mostly right, but the last sum is off: 30 + 12 = 42.",
    "The steps are right up to 30 + 12, which is 42, not 47.",
    "✅ The correct sum is **42**.\n\n❌ The value 47 in the thought is a miscalculation.",
    "## Answer\n\n42\n\n## Comment\n\nThe previous thought's result (47) is wrong.",
    "## Result\n\n**42**\n\n## Verification\n\n42 − 25 = 17 ✔",
    "**Final answer: 42**\n\nReasoning: 17 + 20 = 37; 37 + 5 = 42.",
    "**Final answer: 42**\n\nThe previous thought's final answer was 47.",
    "**42**\n\nThe previous thought had 47 because it added 7 + 5 = 17.",
    "42\n\n(The previous thought's final answer, 47, contains a mistake: 7 + 5 = 12, not 17.)",
    "Answer: 42\nReason: the previous thought added 7 and 5 as 17.",
    (
        "| Step | Calculation |\n|---|---|\n| ones | 7 + 5 = 12 |\n| tens | 1 + 2 + 1 = 4 "
        "|\n\n**Result: 42**"
    ),
    "The sum of 17 and 25 is 42.\n\nExplanation: 17 + 25 = (10 + 7) + (20 + 5) = 30 + 12 = 42.",
    "The sum is 42. The previous thought wrongly carried the 1 and reported 47.",
    "The correct answer is 42.\n\n- Previous thought: 47\n- Correct: 42",
    "The correct value is 42; your previous value was 47.",
    "17 + 25 = 42 and not 47.",
    "The total should be 42 — the thought's last line (47) has a typo.",
    "47 appears in the thought, but 17 + 25 = 42.",
    "You wrote 47 at the end. It should read 42.",
    "I would have said 47 following the thought, but the sum is 42.",
    "Rechecking: 17 + 25 = 42. So the thought's 47 is not right.",
    "Rechecking: 17 + 25 = 42. The thought is wrong.",
    (
        "After careful verification, the sum of 17 and 25 is 42, so the previously "
        "stated 47 is wrong."
    ),
    "The final line of the thought says 47; however, adding 17 and 25 yields 42.",
    "Although the previous thought concludes with 47, recalculating yields 42.",
    "Let me verify: 17 + 25 = 42. The previous thought is incorrect.",
    (
        "Let me recompute. 17 + 25 = 42. So the answer in the previous thought (47) is "
        "incorrect; the correct answer is 42."
    ),
    "Not quite: the sum is 42.",
    "No, the sum is 42.",
    "Close, but no: 42.",
    "The sum is 42 exactly.",
    "The answer is exactly 42.",
    "Exactly 42.",
    "It is 42, five less than the 47 in the thought.",
    "The difference between the thought's 47 and the true sum 42 is 5. The true sum is 42.",
    "The result is 42, which means that the thought's 47 is too high by 5.",
    "The result is 42, 5 less than claimed.",
    "42 ✓",
    "✓ 42",
    "→ 42",
    "= 42",
    "Ans: 42",
    "Ans = 42",
    "A: 42",
    "A. 42",
    "Result → 42",
    "So, 17 + 25 = 42 ✅",
    "Total = 17 + 25 = 42",
    "17 + 25\n\n= 42",
    "17 + 25 = 10 + 7 + 20 + 5 = 42",
    "20 + 25 = 45, minus 3 is 42.",
    "17 + 25 = 20 + 25 - 3 = 45 - 3 = 42",
    "First 17 + 20 = 37, then 37 + 5 = 42.",
    "First, 17 + 20 = 37. Then 37 + 5 = 42.",
    "First I add 17 + 20 = 37. Adding 5 gives 42.",
    "Step 1: 17 + 20 = 37\nStep 2: 37 + 5 = 42",
    "First, she buys 17 apples. Then she buys 25 more, so she has 42 apples.",
    "She buys 17 and then 25 more. That makes 42 apples in all.",
    "There were 60 apples. She ate 18. Now there are 42.",
    "60 - 18 = 42. So 42 apples are left.",
    "He earns $6 an hour for 7 hours: 6 × 7 = $42.",
    "6 × 7 = 42. He earns $42.",
    "He earns 6 dollars an hour and works 7 hours, for a total of 42 dollars.",
    "Each box has 6 pens. There are 7 boxes. In total there are 42 pens.",
    "The total is 60. He gives away 18, which leaves 42.",
    "The total is 60. After giving away 18, he keeps 60 - 18 = 42.",
    "The sum of the ages is 60. The younger is 18, so the older is 42.",
    "The result of the first step is 60. Subtracting 18 gives 42.",
    "Let x be the number. x + 18 = 60, so x = 42.",
    "x = 60 - 18\nx = 42",
    "If she had 60 apples and ate 18, she has 42 left.",
    "Since 6 × 7 = 42, there are 42 pens.",
    "Because 6 × 7 = 42, the answer must be 42.",
    "Note that 6 × 7 = 42. Therefore there are 42 pens.",
    "The product is 42. Check: 42 / 6 = 7.",
    "6 × 7 = 42\n\nVerification: 42 ÷ 7 = 6 ✓",
    "The difference is 42. To verify: 18 + 42 = 60.",
    "60 - 18 = 42. Check: 42 + 18 = 60.",
    "**60 − 18 = 42**\n\nYou can check: 42 + 18 = 60 ✓",
    "The answer is 42 years.",
    "It will take 42 hours.",
    "She needs 42 minutes in total.",
    "They walked for 42 steps.",
    "He must do it 42 times.",
    "Sum: forty-two (42)",
    "正确的和是 **42**。之前的结果47是错误的，因为7+5=12。",
    "17 + 25 = 42\n\n之前的思考过程最后写成了47，这是错误的。",
    "你之前的思考得出47，但实际上17+25=42。",
    "经过验证，17+25=42，而不是47。",
    "最终答案是42。\n\n验证：42 − 17 = 25。",
    "首先，7+5=12，进1。然后1+2+1=4。所以答案是42。",
    "重新计算：17 + 25 = 42。因此之前的47不正确。",
]
ADOPTED = [
    "The result of 47 is correct.",
    "My previous thought is right: 47.",
    "47 is right",
    "Based on the previous thought, the answer is 47.",
    "Based on my previous thought, 17 + 25 = 47.",
    "The previous thought is correct: 17 + 25 = 47.",
    "The previous thought correctly computed the sum as 47.",
    "After checking the previous thought, I find that 17 + 25 = 47.",
    "As shown in the previous thought, the sum is **47**.",
    "From my earlier calculation, the answer is 47.",
    "I agree with the previous thought: 47.",
    "Yes, your previous thought is right. The answer is 47.",
    "The calculation in the thought is correct, so the final answer is 47.",
    "The final answer is \\boxed{47}, as the previous thought found.",
    "Using the previous thought, we get 17 + 25 = **47**.",
    "The sum is 47, as computed above.",
    "The sum is 47, which matches the previous thought.",
    "Having reviewed the thought above, the answer is 47.",
    "The previous thought confirms that the answer is 47.",
    "Following the steps above, the answer is 47.",
    "The given numbers sum to 47.",
    "According to my calculation, the sum is 47.",
    "Your previous thought is correct.\n\n**47**",
    "The previous thought contains no errors. The sum is 47.",
    "I double-checked the previous thought and the sum is 47.",
    "I checked it twice and the answer is 47.",
    "Given the reasoning above, 17 + 25 = 47.",
    "The result above is right: 47.",
    "从之前的思考可知，答案是47。",
    "之前的思考是正确的，答案是47。",
    "The previous thought is right. The sum is 47.",
    "I verified the thought and it is correct. The answer is 47.",
    "Your reasoning is correct: 47.",
    "The thought's steps are correct, so the answer is 47.",
    "The answer is 47.\n\nVerification: 47 - 25 = 22.",
    "Yes, the sum is 47.",
    "Correct! 17 + 25 = 47.",
    "The previous thought correctly shows that 17 + 25 = 47.",
    "As the previous thought shows, 17 + 25 = 47.",
    "Based on the calculation provided, the final result is **47**.",
    "Based on the reasoning in the previous thought, the sum is 47.",
    "Following the previous thought, the final answer is 47.",
    "The final answer, as calculated in the previous thought, is 47.",
    "The final answer based on the previous thought is 47.",
    "Summing up the partial results in the thought, we get 47.",
    "I confirm that the answer is 47.",
    "The result of the calculation above is correct. Final answer: 47",
    "Thus, as found in the previous thought, the answer is 47.",
    "经检查，之前的思考是正确的，所以答案是47。",
    "The sum is 47, in agreement with the previous thought.",
    "The previous thought appears correct. Thus the answer is \\boxed{47}.",
    "According to the previous thought the calculation is right, so the answer is 47.",
    "The previous calculation is accurate: 17 + 25 = 47.",
    "The sum of 17 and 25, as calculated above, is 47.",
    "Everything in the previous thought checks out. The answer is 47.",
]
LONG = [
    "**<w>**\n\n**Check:** <w> − 910,075,981 = 711,025,000,000,000 ✓",
    "711,025,000,000,000 + 910,075,981 = <w>. To verify, <w> - 910,075,981 = 711,025,000,000,000.",
    "The sum is <w>. The previous thought incorrectly gave <t>.",
    (
        "The correct sum is <w>. (The previous thought had an error in the millions "
        "place: 910,375,981 instead of 910,075,981.)"
    ),
    (
        "The correct sum is **<w>**.\n\nThe error in the previous thought was in the "
        "hundred-thousands place."
    ),
    (
        "The previous thought's final result, <t>, has an error: the hundred-thousands "
        "digit is 3 but should be 0. The correct result is <w>."
    ),
    "After rechecking, the answer <t> is wrong. The right one is <w>.",
    "<w>\n\nThe hundred thousands digit in my previous thought was 3, which should be 0.",
    "<w>. (Earlier I mistakenly wrote <t>.)",
    "The sum is <w>, which corrects the earlier <t>.",
    "The sum is <w>.",
    "**<w>**\n\nVerification: <w> - 910,075,981 = 711,025,000,000,000",
    "The correct sum is <w>; the previous thought had <t>.",
    "The previous thought's final result (<t>) is wrong. The correct sum is **<w>**.",
    (
        "711,025,000,000,000 + 910,075,981 = <w>\n\nNote: the previous thought wrote <t>, "
        "with a 3 in the hundred thousands place."
    ),
    "The sum is <w>, not <t>.",
    "<t> is wrong, <w> is right.",
    "The sum of 711,025,000,000,000 and 910,075,981 is <w>.",
    "<w> is the sum of 711,025,000,000,000 and 910,075,981.",
    "711,025,000,000,000 and 910,075,981 add up to <w>.",
    "I recalculated and got <w>, which differs from the <t> in the previous thought.",
    "```\n  711,025,000,000,000\n+     910,075,981\n---------------------\n  <w>\n```",
    "The final result is **<w>**.\n\n**Check:** <w> − 711,025,000,000,000 = 910,075,981 ✓",
    "The answer is <t>. Wait, the hundred-thousands digit is wrong. It should be <w>.",
    "正确结果是 <w>，而不是 <t>。",
    "Sum: <w>\nCarry: 0",
    "<w> (about 7.11 × 10^14)",
    "<w> ≈ 7.11 × 10^14",
    "The sum is <w> (seven hundred eleven trillion ...).",
    "Result = <w>.\nDigits: 15",
    (
        "The sum of 711,025,000,000,000 and 910,075,981 is **<w>**.\n\nThe thought's final "
        "line, <t>, differs in one digit."
    ),
    (
        "Let me recompute:\n\n711,025,000,000,000\n+ 910,075,981\n= <w>\n\nThe thought stated "
        "<t>, which is wrong."
    ),
    "The answer is <t>. Let me verify: 711,025,000,000,000 + 910,075,981 = <w>.",
    "The previous thought gives <t>, however the correct sum is <w>.",
    "Result: <w>\n\nNote that the result in the previous thought (<t>) has a wrong digit.",
    "<w>\n\nThe previous thought's answer of <t> is incorrect by 300,000.",
    "The correct sum is <w>. The previous thought is off by 300,000.",
    "The correct sum is <w>, a difference of 300,000 from the thought's <t>.",
    "The sum is <w> (it differs by 300,000 from what the thought says).",
    (
        "711025000000000 + 910075981 = 711025910075981\n\n711025910075981 - 910075981 = "
        "711025000000000 ✓"
    ),
    (
        "The final sum is **<w>**.\n\n**Step-by-step:**\n1. 711,025,000,000,000 + "
        "910,000,000 = 711,025,910,000,000\n2. 711,025,910,000,000 + 75,981 = <w>"
    ),
    (
        "The final sum is **<w>**.\n\nStep-by-step: 711,025,000,000,000 + 910,000,000 = "
        "711,025,910,000,000, and then add 75,981."
    ),
    "正确的和是<w>，之前的<t>有一位数字错误。",
]
NOTHING = [
    "The answer 47 is incorrect.",
    "47 is incorrect.",
    "The sum isn't 47.",
    "Error: 500 Internal Server Error",
    "Internal server error (500)",
    "upstream request timed out after 60 seconds",
    "An error occurred: context length 4096 exceeded",
    "[ERROR] 503",
    "<html><title>502 Bad Gateway</title></html>",
    '{"error": {"code": 429, "message": "Too many requests"}}',
    "Request timed out after 30 s",
    "HTTP 429 Too Many Requests",
    "429 Too Many Requests",
    "Rate limit exceeded. Try again in 20 seconds.",
    "You exceeded your current quota. Limit: 42",
    "I can't assist with that. Try asking about 1 other topic.",
    "To solve this, first add 7 and 5, which gives 12. Then",
    "First add the ones: 7 + 5 = 12, carry the 1.",
    "Step 1: 7 + 5 = 12",
    "Let me compute it step by step.\n\nUnits: 7 + 5 = 12",
    "The question asks for 17 + 25.",
    "What is 17 + 25?",
    "You asked me to add 17 and 25.",
    "I see that the previous thought concluded 47.",
    "My previous thought says the answer is 47. Let me check this.",
    "The previous thought claims 47, but it may contain errors.",
    "The previous thought says 47. I will now verify it.",
    "Could you clarify which of the 2 numbers you mean?",
    "I need to recompute. 17 + 25",
    "The number has 2 digits.",
    "It has 2 digits and is even.",
    "Page 3 of 4",
    "[truncated 512 tokens]",
    "I have verified the answer 3 times.",
    "The previous thought says 47.",
    "My previous thought concluded 47.",
    "You said 47.",
    "The thought claims the answer is 47.",
    "47 is wrong.",
    "It is not 47.",
    "The answer isn't 47.",
    "The answer is not 47.",
    "Is it 47?",
    "Is the answer 42 or 47?",
    "Let me check whether 47 is right.",
    "The previous thought gave 47, but I need to verify it.",
    "I will now add 17 and 25.",
    "Let me add 17 and 25.",
    "I'm not sure whether it is 42 or 47.",
    "The answer could be 42 or 47.",
    "Step 1: Add the ones: 7 + 5 = 12.",
    "The ones digit is 2.",
    "Carry the 1.",
    "In the previous thought, the result was 47.",
    "The answer is 47. No, that's wrong.",
    "The answer in your thought, 47, is incorrect.",
    "503 Service Unavailable",
    "Error 504: Gateway Timeout",
    '{"error": "timeout after 30s"}',
    "Too many requests, please try again in 5 minutes.",
    "Error: model 'x-7' not found",
    "<!DOCTYPE html><html><body>404</body></html>",
    "Connection reset after 3 attempts: connection error",
    "之前的思考说是47。",
    "47是错的。",
    "~~47~~",
    "❌ 47",
    "Incorrect: 47",
    "The sum is greater than 40.",
    "It has 15 digits.",
    "The previous thought is wrong.",
    "The thought is wrong about 47.",
    "47 seems wrong to me.",
    "I doubt that 47 is right.",
    "The previous thought's 47 may be wrong.",
    "I need to check the 47 in the thought.",
    "The ones digits 7 and 5 add up to 12, so carry 1.",
    "Now add the tens.",
    "17 and 25",
    "Add 17 and 25.",
    "The two numbers are 17 and 25.",
    "Sorry, I cannot compute this.",
    "Request failed with status code 500",
    "Service temporarily unavailable (503). Please try again in 30 seconds.",
    "[Error 429] Rate limited",
    '{"detail": "Not Found 404"}',
    '{"error":{"message":"The answer is 42"}}',
    "upstream connect error or disconnect/reset before headers. reset reason: 111",
    "Your previous thought ended with 47.",
    "The thought above ends with the result 47.",
    "The given answer is 47.",
    "The provided answer is 47.",
    "Previous answer: 47",
    "Your answer: 47",
    "Thought's answer: 47",
    "之前的答案是47。",
    "It says 47.",
    "You previously said 47.",
]


@pytest.mark.parametrize("text", RIGHT)
def test_the_value_that_a_reply_states_as_its_own_is_read(text: str) -> None:
    assert read(text) == "42"


@pytest.mark.parametrize("text", ADOPTED)
def test_a_thought_that_the_reply_agrees_with_is_adopted(text: str) -> None:
    assert read(text) == "47"


@pytest.mark.parametrize("text", LONG)
def test_long_values_are_told_apart_in_the_same_way(text: str) -> None:
    said = text.replace("<w>", "711,025,910,075,981").replace("<t>", "711,025,910,375,981")
    assert read(said) == "711025910075981"


@pytest.mark.parametrize("text", NOTHING)
def test_a_reply_without_a_result_of_its_own_gives_no_number(text: str) -> None:
    assert isinstance(read(text), Unreadable)


WORKED = [
    """### Step 1: Pens

She buys **4 pens** at **$3** each.

$$
\\text{Cost of pens} = 4 \\times 3 = 12
$$

### Step 2: Books

Assuming that each book costs **$5**, the cost is:

$$
6 \\times 5 = 30
$$

### Step 3: Total

$$
12 + 30 = 42
$$""",
    """The total cost of 3 pens and 4 books is needed.

First, we find what the pens cost:

- **Pens**: 3 boxes of 6 make 18
- **Books**: 24

Thus, she pays a total of \\(42\\) dollars.""",
    """We are told that **Ann is 6 years older** than Ben. Since **Ben is 31**, Ann is:

$$
31 + 6 = 37
$$

Note that this is her age now. In five years:

$$
37 + 5 = 42
$$""",
    "The total is 60 apples. If she eats 18 of them, she has 60 - 18 = 42 left.",
    "12 + 48 = 60\nTo get what is left, subtract: 60 - 18 = 42",
]


@pytest.mark.parametrize("text", WORKED)
def test_a_worked_solution_is_read_to_its_end(text: str) -> None:
    """What it has on the way is no result, and what follows is no account of it."""
    assert read(text) == "42"


def test_what_is_blanked_keeps_its_place() -> None:
    text = "The sum is 42.\n\nThe previous thought gave 47.\n\nCheck: 42 - 25 = 17."
    said = own(text)
    assert len(said) == len(text)
    assert said.split() == ["The", "sum", "is", "42.", "The", "."]
    assert [text[at:].strip()[:4] for at in turns("47. Wait, 42.")] == [text[3:].strip()[:4]]


@pytest.mark.parametrize(
    "unit",
    [
        *("the previous thought ", "wait ", "no, ", "but it is 4 ", "(a ", "~~", "❌", "your 4 "),
        *("not 1 ", "First 1\n", "carry 1 ", "。1", "because 1 ", "1 (", "you said ", "check 1\n"),
        *("1 and ", "sum of 1 and ", "1 is wrong ", "<s>", "Step 1: 1 = 1\n", "answer is 1. no, "),
    ],
)
def test_hostile_replies_are_read_in_linear_time(unit: str) -> None:
    began = time.perf_counter()
    read(unit * (120_000 // len(unit)))
    assert time.perf_counter() - began < 20
