raise SystemExit('torch was shadowed')
