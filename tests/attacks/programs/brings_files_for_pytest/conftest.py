raise SystemExit('conftest was read')
