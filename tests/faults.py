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
