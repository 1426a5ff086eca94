"""What several tests share: builders of courses, classes and hand-ins, fake workers, terminals, readers of pages."""
