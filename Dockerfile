# The grader for a class, on the CPU: docker build -t selfattend .
# docs/instructors.md says how to run it, and docs/isolation.md what holds in a container.
FROM python:3.12.12-slim-bookworm

RUN apt-get update \
    && apt-get install -y --no-install-recommends bubblewrap git \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /selfattend
COPY constraints.txt ./
# PyTorch without CUDA is a tenth of the size; what it needs comes with the rest, in the versions of constraints.txt
RUN pip install --no-cache-dir --no-deps -c constraints.txt --index-url https://download.pytorch.org/whl/cpu torch
COPY pyproject.toml README.md LICENSE course.toml ./
COPY grader ./grader
COPY lessons ./lessons
COPY exercises ./exercises
COPY solutions ./solutions
RUN pip install --no-cache-dir -c constraints.txt ".[cluster]"

RUN useradd --uid 1000 --create-home grader
USER 1000:1000
WORKDIR /work
ENTRYPOINT ["grader"]
CMD ["doctor"]
