"""What the files of a course may import, and nothing else: a promise that is kept across versions.

`grader.api.checks` is for hidden checks and mistake files, `grader.api.questions` for generators of questions.
"""
