#pragma once
// X11's screen-saver extension ("X11 Screen Saver Extension", MIT-SCREEN-SAVER 1.1): the time
// since the last input. A connection may be used by one thread at a time.
#include <X11/Xlib.h>
#include <X11/extensions/scrnsaver.h>
