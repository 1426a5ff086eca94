"""The quiz: bank, generated variants, marking, and what answers say about who gave them. No torch, no screen."""
