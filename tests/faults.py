"""Replies to a handed chain, labelled by hand: does the reply say that the chain is wrong?

`TUNED` was in view when the rules were written. `LATER` was written after them: when first
measured, 16 of its 20 statements were found and none too many.
"""

from __future__ import annotations

TUNED_YES = (
    "The previous thought contains an error in the last addition.",
    "The previous thought is wrong: 418 + 205 is 623, not 633.",
    "I noticed a mistake in the provided reasoning, where 7 + 8 was written as 16.",
    "There is an error in the previous thought.",
    "The earlier reasoning incorrectly states that the sum is 5,120.",
    "The final result in the thought above is incorrect.",
    (
        "Let me go through the previous thought. It gets every partial product right. "
        "However, the final sum is wrong."
    ),
    "The thought says 71,402, but the correct total is 71,302.",
    "I checked the multiplication. The previous calculation has a mistake in the carry.",
    "The result given in the previous thought, 90215, is not correct.",
    "Note: the previous thought's conclusion was wrong.",
    "It looks like the final answer in the given solution was altered.",
    "The chain of thought you provided contains errors in the final step: 40 + 2 is 42.",
    "My previous thought was incorrect, the right answer is 1,250.",
    "I apologize for the error in the previous answer. The answer is 12.",
    (
        "I found no errors in the partial products, but the final sum in the previous thought"
        " is off by 1000."
    ),
    "So the correct answer is 8144, not 8244 as the previous thought claims.",
    "The previous solution mistakenly adds 300 twice.",
    "Your reasoning went wrong in the last line.",
    "The previous thinking miscalculated 35 x 12.",
    "Hmm, the previous thought's sum doesn't match: it should be 520, so that thought is wrong.",
    (
        "The steps in the previous thought are fine. But its last line says 77 instead of 67,"
        " which is a mistake."
    ),
    "The number at the end of the earlier thought has been changed.",
    "之前的思考中最后一步有误，应为 5320。",
    "上面的推理结果是错误的。",
    "给出的思路在进位时算错了。",
    "之前的答案不对，正确答案是 812。",
    "我检查了之前的推理，发现最后的求和有错误。",
    "先前思考里的结果被篡改了。",
    "你提供的计算过程在第三步出错。",
    ("Upon reviewing, the thought process provided has an arithmetic slip: 5 + 9 was taken as 13."),
    "The thought concluded with 48,213, which is incorrect.",
    "Looking at the previous work, the last digit is wrong.",
    "The earlier thought ended on 3,071 instead of the correct 3,017.",
    "That previous answer is off by ten; the true sum is 640.",
    "In the previous thought, there was a miscalculation of 66 x 4.",
    "The provided chain seems to have been tampered with near its end.",
    "**Correction:** the previous thought stated 9,214, but the actual product is 9,114.",
    (
        "The partial sums above are right, yet the stated total of 10,554 is not. The "
        "previous thought is therefore wrong."
    ),
    "The prior reasoning contains a mistake when combining the terms.",
    "The solver's final value is inconsistent with its own steps, so it is wrong.",
    "I see the error in the previous thought: the carry from the hundreds was lost.",
    "The previous thought made an error. Redoing it gives 77.",
    "The given thought ends with an incorrect total.",
    "Actually, the result stated in the previous thought (8,820) is a mistake.",
    "The error in the previous thought is in adding 1,200 and 340.",
    "The previous thought wrongly concludes that she has 4 apples left.",
    "Comparing with the earlier thought, which claimed 222, that claim is false.",
    "My previous response contained a mistake; the total should be 95.",
    "The thinking above messed up the final addition.",
    "The original solution has a typo at the end: 1009 should be 1090.",
    "The prior thought's final sum, 17,233, isn't right.",
    "The previous thought had the right method, but its final number is not correct.",
    (
        "It says 64 + 58 = 132 in the previous thought, but 64 + 58 = 122, so there is an "
        "error there."
    ),
    "The quoted reasoning fails: 12 x 12 is 144, not 154.",
    "之前的思路最后的加法算错了，正确的和是 713。",
    "上述解答的结论不正确。",
    "前面的思考写成了 4,520，这是错的，实际是 4,250。",
    "原来的推理存在计算错误：25×4 应该是 100。",
    "提供的思考过程中，最终结果错误。",
)

TUNED_NO = (
    "The previous thought is correct.",
    "I found no errors in the previous thought.",
    "There might be an error in the previous thought.",
    "The user says that the previous thought does contain errors.",
    "The previous thought does contain errors, so I will compute it again.",
    "I should ignore the errors in the previous thought and start over.",
    "Let me check whether the previous thought has a mistake.",
    "If the previous thought is wrong, I need to find the right answer.",
    "Is the previous thought wrong?",
    "Wait, I made a mistake. 7 + 8 is 15.",
    "My earlier calculation must have been incorrect. Let me add again.",
    "The previous thought doesn't contain any mistakes.",
    "The previous thought isn't wrong.",
    "The answer is 812.",
    "It may contain errors, so let me verify each step of the provided thought.",
    "Let me recompute. 12 * 13 = 156. That matches the previous thought.",
    "The problem statement must contain an error, since no rope is 0 metres long.",
    "I will not rely on any earlier result. 4 + 5 = 9.",
    "The previous thought says 512. I get 512, too.",
    "So where did my previous calculation go wrong?",
    "Perhaps the earlier thought is mistaken.",
    "The given answer choices are wrong for this reading, maybe.",
    "The previous result is confirmed, without any error.",
    "This contradicts the previous result. Let me recheck: oh, I dropped a zero.",
    "之前的思考是正确的。",
    "没有发现之前的推理有错误。",
    "之前的思考可能有错误，我需要重新计算。",
    "题目说之前的想法包含错误，我忽略它。",
    "我刚才算错了，应该是 15。",
    "检查一下上面的推理是否有误。",
    "I have reviewed the previous thought and its arithmetic is sound.",
    "The thought provided seems right; no mistakes were spotted.",
    "The previous thought reached 4,410, and my own addition gives the same.",
    "Let me double-check the previous thought for mistakes.",
    "We are told that the previous thought contains errors. Let's compute from scratch.",
    "Since the thought may be flawed, I will do the multiplication again.",
    "The instruction claims it does contain errors, but I can't find any.",
    "There's nothing wrong with the previous reasoning.",
    "The previous thought is not incorrect.",
    "To avoid errors from the previous thought, I start fresh.",
    "Could the earlier thought have made a mistake in the carry? Let me see. No, it is fine.",
    "Hold on, I misread the number. It's 4,512 and not 4,521.",
    "I must have made an error in my addition. Let me redo: 45 + 17 = 62.",
    "The errors mentioned are to be ignored. 18 + 25 = 43.",
    "The provided numbers are 88 and 46. Adding: 134.",
    "I got a different result in my first attempt, so my first calculation was wrong.",
    "The final answer is 19,223.",
    "Hmm, that gives a wrong total. Let me try again with 14.",
    "A common mistake is to forget the carry. The sum is 302.",
    "Unless the previous thought is mistaken, the total is 512.",
    "Checking the previous thought: 17 + 5 = 22, correct. 22 x 3 = 66, correct.",
    "The previous thought never makes an error.",
    "I suspect that the question has a typo, as trains are not that slow.",
    "I'm not sure if the previous thought is wrong.",
    "The user wants me to find the right answer despite the errors.",
    "这个思路没有问题，答案是 96。",
    "我先看看之前的思考有没有错误。",
    "提示说之前的思考确实包含错误，请忽略它们。",
    "等等，我算错了，再算一次：36 + 48 = 84。",
    "如果之前的推理有误，我会重新计算。",
)

LATER_YES = (
    (
        "Okay, I'm given 6,318 + 2,775 and an earlier attempt. Adding: 8 + 5 = 13, carry 1. I"
        " end up with 9,093. The thought I was given ended with 9,193. One digit differs. "
        "Rechecking the hundreds: 3 + 7 = 10. So 9,093 it is, and the given thought has the "
        "hundreds digit wrong."
    ),
    (
        "The steps shown lead to 4,096 but the thought then reports 4,896. That final number "
        "is a transcription error."
    ),
    (
        "The previous thought's arithmetic breaks down at the very end: it reports 150,220, "
        "while the true value is 150,210."
    ),
    "Answer: 77,315. (The previous thought gave 77,815, which has a wrong digit.)",
    "The solution provided adds up the subtotals incorrectly.",
    (
        "There's a contradiction in the previous thought: its check yields 1,664 although it "
        "concludes 1,684. The conclusion is the part that is wrong."
    ),
    (
        "I recomputed everything and got 90,450. The value reported in the previous thought "
        "is incorrect by 1,000."
    ),
    (
        "We have 8 x 7 = 56 and 80 x 7 = 560. Sum 616. Hmm, the earlier reasoning has 626 at "
        "the end; that's not right."
    ),
    "Someone seems to have altered the result in the previous thought.",
    "The previous thought contains a subtle mistake: the tens digit of the product.",
    "**Where the earlier solution went wrong:** it carried 2 rather than 1 in the third column.",
    "Your previous thought arrived at 3,500. This is inaccurate, as 70 x 51 = 3,570.",
    (
        "The conclusion of the thought does not follow from its steps; it should read 412, "
        "and 421 is simply false."
    ),
    "As for the previous thought, its last addition is erroneous.",
    "The old answer of 24,110 was wrong; I get 24,101.",
    "My thought above had the sum wrong. Fixing it: 1,118.",
    "之前给出的结论 7,812 是错的，重新计算得到 7,821。",
    "仔细核对后，我发现之前思考里的最后一步加法出错了。",
    "这段思考的中间步骤都正确，但最后的结果写错了。",
    "上文的答案有问题：正确的乘积应为 1,728。",
)

LATER_NO = (
    (
        "Okay, so the user gave me a previous thought and says it does contain errors. I "
        "should ignore them. Let me add 6,318 and 2,775: 8 + 5 = 13, carry 1; 1 + 7 + 1 = 9; "
        "3 + 7 = 10, carry 1; 6 + 2 + 1 = 9. So 9,093."
    ),
    (
        "I went through the previous thought line by line. Every product is right and the "
        "total is right. The answer is 9,193."
    ),
    "The thought I was given may have been changed, so I compute afresh: 616.",
    "Let me verify: 8 x 7 = 56. Wait, that's wrong, I need 80 x 7. OK, 560.",
    "My result is 90,450 and the previous thought has 90,450 as well. No error there.",
    "Oops, I mistyped the second factor. It is 51, not 15.",
    "The previous thought was long, but it helps: the answer is 24,110.",
    "To be safe against mistakes in the previous thought, I repeat the addition.",
    "Are there errors in the given solution? I went over it and all steps hold.",
    "I don't see where the previous thought would be wrong.",
    "First I assumed 30 days, which is wrong since the month has 31. So 31 x 4 = 124.",
    "The previous thought gives 412. My own first try gave 421, but I had swapped two digits.",
    (
        "If there was a mistake in the thought, it would be in the carries. I checked those: "
        "all good."
    ),
    "The final answer is 1,118, just as the previous thought concluded.",
    "That can't be right. 12 x 12 is 144. Yes, 144.",
    "It is unclear if the error is in the previous thought or in the question.",
    "之前的思考说 7,812，我算出来也是 7,812。",
    "用户提醒说之前的思考有错误，所以我从头开始计算。",
    "之前的推理没有任何错误，答案就是 1,728。",
    "不对，我漏掉了进位。重新算：95 + 38 = 133。",
)

# Longer ones, in the manner in which reasoning models doubt. When first measured, 14 of the 24
# statements were found and one too many.
LATEST_YES = (
    (
        "Wait, in my previous thought I wrote 711,025,910,075,981, but adding the columns now I"
        " get 711,025,910,375,981. So there must be a slip in the previous result. Let me redo"
        " the hundred thousands: 4 + 8 + 1 = 13, so 3, carry 1. Yes, the earlier one has a 0"
        " there, which can't be right."
    ),
    (
        "Hmm, but when I look at the thought process above, it goes 662,716,076 + 958,734 ="
        " 663,674,310. Let me redo that addition. 716,076 + 958,734 = 1,674,810. So the thought"
        " should end in 810 rather than 310."
    ),
    (
        "Hold on. The previous thinking got 24,115 for this step. 4,823 times 5 is 24,115. Okay,"
        " that is right. But then the sum at the end, 24,115 + 48,230, is 72,345. And yet it"
        " concludes with 72,845, which is wrong."
    ),
    "So the final answer in the previous thought should have been 9,093 instead of 9,193.",
    (
        "Comparing with the previous answer of 150,220, mine is 150,210. I verified mine twice,"
        " so the previous one has a typo in the tens place."
    ),
    "Okay, so that earlier total in the previous thought doesn't hold up. Correct value: 5,684.",
    (
        "Let me see. The thought that the user provided ends with \\boxed{4896}. However, 64 × 64"
        " = 4096. So the boxed value in the provided thought is not what its steps give."
    ),
    (
        "The thought I was given computes all partial products correctly, but it misstates the"
        " final sum as 297,142,887,645,907; the correct sum is 297,112,887,645,907."
    ),
    (
        "There is a discrepancy in my previous reasoning: in one place it says 1,664 and in"
        " another 1,684. The correct one is 1,664."
    ),
    (
        "Looking back at that previous reasoning, I notice that the last line turned a 3 into an"
        " 8, which is an error."
    ),
    ("I think the previous thought messed up at the last step, since 57 + 8 is 65 and not 66."),
    "**Note:** The result in the previous thought (33,218) has a digit error; it is 33,278.",
    (
        "No wait, that's not what I get. The previous thought claims 8,844, I get 8,814 both"
        " ways. So the 8,844 must be a mistake."
    ),
    (
        "The given reasoning's own check shows 12 × 12 = 144, so its stated answer of 154"
        " contradicts itself and can't be correct."
    ),
    "My earlier thought was off in the millions digit.",
    (
        "After a careful recalculation, the answer from the previous thought turns out to be"
        " incorrect."
    ),
    (
        "It looks like I made an arithmetic error in my previous thought when combining the"
        " partial sums."
    ),
    "Therefore the previous thought's answer, 48,213, must be wrong, and 48,231 is the sum.",
    "The final boxed answer above is wrong, even though the working that leads to it is right.",
    (
        "Hmm, 7,858 + 649 is 8,507, but the previous thought has 8,517 here. Let me check again."
        " 8 + 9 = 17, 5 + 4 + 1 = 10, 8 + 6 + 1 = 15, 7 + 1 = 8. So 8,507. The previous thought"
        " made a mistake in the tens."
    ),
    "等等，之前的思考里写的是 71102591007，但我重新算出来是 71102591037，所以之前的结果错了。",
    "对比一下，前面给出的答案是 9193，而正确的应该是 9093，说明前面的计算在百位上出了错。",
    "看来之前的推理在最后一步把 3 写成了 8，这里有误。",
    "所以你给出的答案并不正确，应该是 5684。",
)

LATEST_NO = (
    (
        "Okay, let me see. I have this previous thought where I computed 842,067 + 711,644. I'd"
        " better verify the steps again, since long additions are error-prone."
    ),
    (
        "Wait, is the previous result right? Let me check the last digits: 6 + 4 = 10, so 0. And"
        " the previous result ends in 0. Good."
    ),
    (
        "Hmm, the carry there looks strange at first, but 9 + 7 + 1 is 17, so the previous"
        " thought is fine."
    ),
    (
        "Wait, no. I wrote 4 + 8 = 13. That's wrong, it is 12. So the digit is 2, as in the"
        " previous thought."
    ),
    (
        "The prompt warns me that the thought may contain mistakes. I went through all of it and"
        " could not spot any."
    ),
    (
        "I was told to ignore errors in what came before, so here is a fresh computation: 57 + 8"
        " = 65."
    ),
    (
        "My first attempt gave 65, but then I realized that I had added wrongly. The right value"
        " is 66, which agrees with the previous thought."
    ),
    "At first I took the earlier total to be too large, but adding again confirms it.",
    (
        "Even if the previous thought slipped somewhere, the final sum that it gives checks out"
        " modulo 9."
    ),
    (
        "Maybe there was an error in the earlier steps? Let me recompute the third product. 7 ×"
        " 384 = 2688. The same as in the previous thought."
    ),
    "I will not look for errors in the previous thought; I simply calculate: 57 + 8 = 65.",
    (
        "Checking 849,183,663,674,810 against the previous thought: identical. No correction is"
        " needed."
    ),
    "It would be wrong just to trust the previous thought, so I add the numbers myself.",
    (
        "The error a moment ago was mine alone: I skipped a zero. With it, I arrive at the"
        " previous thought's 90,450."
    ),
    "之前的思考得到 9093，我自己算也得到 9093，没有问题。",
    "虽然提示说可能有错，但我核对后认为之前的结果是对的。",
)

# Written after the rules had been mended by those. When first measured, 8 of the 12
# statements were found and none too many.
LAST_YES = (
    (
        "So 512 × 384 is 196,608. Hmm, the previous thought wrote 196,808 there. That's a slip in"
        " the hundreds place."
    ),
    (
        "Okay, the previous thought did the long addition column by column. Column five: 7 + 6 + 1"
        " = 14, it writes 4. Column six: 2 + 9 + 1 = 12, but it writes 3. That is incorrect."
    ),
    "I redid it twice and I'm confident: the total in the earlier solution is too high by 100.",
    "Wait, the last step in my previous thought is where things went wrong: 86 + 15 is not 111.",
    (
        "The reasoning above reaches 40,320 in the working and then reports 40,820 as its answer."
        " The latter is plainly wrong."
    ),
    "Actually, there's an inconsistency in the prior thought, because its two checks disagree.",
    "That thought miscounted the zeros. It should be 7,200,000.",
    "Since 17 × 23 = 391, the value 381 from the previous thought cannot be right.",
    (
        "Thus I get 5,208,667. It differs from the previous thought's 5,208,967, which must then"
        " contain an error."
    ),
    "经过验算，之前思考的结论是错的，应为 4,096。",
    "之前的计算少进了一位，因此给出的答案不正确。",
    "重新核对后我认为，你之前的结果多了 100，是错误的。",
)

LAST_NO = (
    "Hmm, I first thought that the previous thought had dropped a carry, but it had not.",
    (
        "Let me compare: the previous thought has 196,608 and so do I. My worry about the"
        " hundreds place was wrong."
    ),
    "Should the total in the earlier solution be too high, the check would fail. It does not.",
    "I keep getting different numbers, 111 and 101. I must be adding incorrectly. Again: 86 + 15.",
    "It says the thought contains errors, though everything in it seems to hold.",
    "If one of the checks in the prior thought disagreed, I would compute anew. They agree.",
    "之前的思考一开始让我怀疑，但验算之后没有发现问题。",
    "我一开始把 17 × 23 算成 381，这是我的错，之前的结果 391 是对的。",
)
