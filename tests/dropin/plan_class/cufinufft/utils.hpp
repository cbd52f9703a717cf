// Stands in the place of a header that cuFINUFFT's tests name and need nothing of.
#pragma once
