"""QuestionForm, AnswerKey and QuestionFormAnswers: read, checked, answered, graded."""
