"""Which library is loaded."""

import fourtune
from fourtune import _library


def test_the_name_without_a_wheel_is_that_of_this_version():
    assert _library.SONAME == "libfourtune.so." + ".".join(fourtune.__version__.split(".")[:2])
