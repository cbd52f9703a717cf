/* Visibility of the public interface. */
#pragma once

#if defined(__GNUC__)
#define FOURTUNE_API __attribute__((visibility("default")))
#else
#define FOURTUNE_API
#endif
