"""Reads, checks, answers and grades QuestionForm, AnswerKey and QuestionFormAnswers."""
