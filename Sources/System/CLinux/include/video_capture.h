#pragma once
// Cameras: the Video4Linux2 interface of the kernel.

/// Whether `path` is a camera that pictures can be taken with: VIDIOC_QUERYCAP on a character device. Metadata nodes
/// that many webcams have beside the picture's are none. Takes no picture. Returns 0; ENODEV for something else than
/// a camera; or the errno of open(2).
int clinux_captures_video(const char *path);
