#pragma once
// libadwaita 1.2 for Swift. GTK's own declarations are those of CGtk4, so that all modules share their types.
#include "../CGtk4/shim.h"

#include <adwaita.h>
