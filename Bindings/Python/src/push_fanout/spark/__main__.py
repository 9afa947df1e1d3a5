"""``python -m push_fanout.spark``, and the file that spark-submit is given."""

import sys

from push_fanout.spark.command import main

if __name__ == "__main__":
    sys.exit(main())
