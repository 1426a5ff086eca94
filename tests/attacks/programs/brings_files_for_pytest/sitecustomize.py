raise SystemExit('sitecustomize was read')
