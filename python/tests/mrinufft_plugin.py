"""pytest -p mrinufft_plugin: runs mri-nufft's own, unchanged tests on fourtune.

Those tests list the backends that mri-nufft knows by name, and ask operators for it. So fourtune takes the names
"finufft" on the processor and "cufinufft" on a GPU, and FINUFFT itself becomes "finufft-itself", for the option --ref:

    pytest -p mrinufft_plugin --backend finufft --ref finufft-itself tests/operators
    pytest -p mrinufft_plugin --backend cufinufft --ref finufft-itself tests/operators
"""

from mrinufft.operators import FourierOperatorBase

from fourtune.mrinufft import MRIFourtune, MRIFourtuneGPU

FourierOperatorBase.interfaces["finufft-itself"] = FourierOperatorBase.interfaces["finufft"]


class Finufft(MRIFourtune):
    backend = "finufft"


class Cufinufft(MRIFourtuneGPU):
    backend = "cufinufft"
