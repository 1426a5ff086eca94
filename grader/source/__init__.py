"""What Python source says, without running it. No torch, no I/O."""
