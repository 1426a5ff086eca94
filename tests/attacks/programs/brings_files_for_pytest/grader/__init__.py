raise SystemExit('grader was shadowed')
