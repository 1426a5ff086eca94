"""What is asked, and when it is asked again."""
