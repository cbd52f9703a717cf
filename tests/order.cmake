# The order in which ctest starts tests, and which ones do not run at the same time. ctest reads this file after the
# lists of tests that the programs wrote (tests/CMakeLists.txt).

# Tests above two seconds (docs/design/testing.md) start first, so that none of them runs alone at the end; those above
# ten before the others.
set(longest "^tools[.]TuneDrawn[.]T" "^tuner[.]EmulatedNufftTuning[.]" "^runtime[.]Cuda(Fft|Nufft)Compile[.]")
set(long "^tools[.](BusyMachine|TuneDrawn|EmitCommand|EmulatedEmit|MakePack|Screens|Soak|SoakDraw|BenchSuites)[.]"
         "^tools[.]Docs/" "^tuner[.](Session|WorkerSession|Sensors|CompilerProcess|Killed)[.]"
         "^db[.]Packs[.]" "^runtime[.](TwoGpus|FftwMemory|Orders|EmulatedDevices)[.]"
         "^accuracy[.].*Type3Validity[.]"
         # Under the address sanitizer.
         "^runtime[.](FftBoxes|SingleLines)[.]" "^runtime[.].*GridderGuard[.]ArraysEnd" "^runtime[.]PrunedFft[.]L"
         "^db[.]StoreFile[.]WithFlipped" "^generator[.]PlanText[.]EveryCandidate" "^generator[.].*[.]Mutilated")
# Tests that tune or measure for a given time. Two of them at a time, beside four others, have a third of a processor
# each. They mostly wait, so they start early: ctest would leave tests that take two places to the end, where nothing
# else uses the time in which they wait. Busy loops are meant to disturb what runs in their own test, so one of them at
# a time is enough.
set(timed "^tools[.](TuneDrawn|TuneMisses|ObjectiveCommand|CalibrateCommand|Shards)[.]"
          "^tuner[.](EmulatedNufftTuning|EmulatedTuning|Session|WorkerSession|Killed)[.]")
set(disturbing "^tools[.]BusyMachine[.]")
# Sweeps over alike kernels, most of whose time compilers take, and commands beside busy loops. They get the labels
# turn-0 to turn-7 in turns, so that tools/check can leave seven of them to other commits (docs/design/testing.md).
set(sweeps "^generator[.].*/(NufftKernels|NufftSortKernels|NufftPublished|NufftDeterministic)[.]"
           "^runtime[.].*/(EmulatedNufft|EmulatedNufftType3Covering)[.]" "^runtime[.]Cuda(FftCompile|NufftCompile|FftCovering)[.]"
           "^tools[.](EmulatedEmit[.]|EmitCommand[.]Nvcc|BusyMachine[.])")
set(turn 0)
set(lane 0)
foreach(property longest long timed disturbing sweeps)
  list(JOIN ${property} "|" ${property})
endforeach()

get_cmake_property(lists VARIABLES)
list(FILTER lists INCLUDE REGEX "_TESTS$")
foreach(list ${lists})
  foreach(test ${${list}})
    if(test MATCHES "${longest}")
      set_tests_properties("${test}" PROPERTIES COST 20)
    elseif(test MATCHES "${timed}")
      set_tests_properties("${test}" PROPERTIES COST 15)
    elseif(test MATCHES "${long}")
      set_tests_properties("${test}" PROPERTIES COST 10)
    endif()
    if(test MATCHES "${timed}")
      set_tests_properties("${test}" PROPERTIES RESOURCE_LOCK timed-${lane})
      math(EXPR lane "1 - ${lane}")
    endif()
    if(test MATCHES "${sweeps}")
      set_tests_properties("${test}" PROPERTIES LABELS turn-${turn})
      math(EXPR turn "(${turn} + 1) % 8")
    endif()
    if(test MATCHES "${disturbing}")
      set_tests_properties("${test}" PROPERTIES RESOURCE_LOCK busy)
    endif()
  endforeach()
endforeach()
