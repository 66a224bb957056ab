#include "video_capture.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

int clinux_captures_video(const char *path) {
    int device = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (device < 0)
        return errno;
    struct stat status;
    struct v4l2_capability capability;
    memset(&capability, 0, sizeof capability);
    int result = ENODEV;
    if (fstat(device, &status) == 0 && S_ISCHR(status.st_mode)
        && ioctl(device, VIDIOC_QUERYCAP, &capability) == 0) {
        // Of this node, where the driver reports them; `capabilities` is of the whole hardware.
        unsigned int offered = capability.capabilities & V4L2_CAP_DEVICE_CAPS ? capability.device_caps
                                                                              : capability.capabilities;
        if (offered & (V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_VIDEO_CAPTURE_MPLANE))
            result = 0;
    }
    close(device);
    return result;
}
