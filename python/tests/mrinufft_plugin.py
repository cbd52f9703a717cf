"""pytest -p mrinufft_plugin: runs mri-nufft's own, unchanged tests on fourtune.

Those tests list the backends that mri-nufft knows by name. So fourtune takes the name "finufft", which most tests use,
and FINUFFT itself becomes "finufft-itself", for the option --ref:

    pytest -p mrinufft_plugin --backend finufft --backend fourtune --ref finufft-itself tests/operators

On a GPU it takes the name "cufinufft" likewise, and FINUFFT is the reference:

    pytest -p mrinufft_plugin --backend cufinufft --ref finufft-itself tests/operators
"""

from mrinufft.operators import FourierOperatorBase

from fourtune.mrinufft import MRIFourtune, MRIFourtuneGPU

interfaces = FourierOperatorBase.interfaces
interfaces["finufft-itself"] = interfaces["finufft"]
interfaces["finufft"] = (True, MRIFourtune)


class Cufinufft(MRIFourtuneGPU):  # the tests ask operators for this name
    backend = "cufinufft"


interfaces["cufinufft"] = (MRIFourtuneGPU.available, Cufinufft)
