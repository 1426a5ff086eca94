raise SystemExit('usercustomize was read')
