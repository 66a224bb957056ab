// Where an app on the Home Screen has a storage of its own.
import { isIOSTab } from "/ui/ios-tab.js";
import { equal } from "./harness.js";

const mac = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 "
    + "Safari/605.1.15";
const iPhone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    + "Version/18.1 Mobile/15E148 Safari/604.1";
const android = "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile "
    + "Safari/537.36";

export const tests = {
    onlyATabOfAnIPhoneOrIPadIsOne() {
        const cases = [
            ["an iPhone's tab", iPhone, 5, false, true],
            ["Chrome on an iPhone", iPhone.replace("Version/18.1", "CriOS/141.0.0.0"), 5, false, true],
            ["an app on an iPhone's Home Screen", iPhone, 5, true, false],
            ["an iPad's tab", mac, 5, false, true],
            ["an app on an iPad's Home Screen", mac, 5, true, false],
            ["an old iPad's tab", iPhone.replace("iPhone", "iPad"), 5, false, true],
            ["Safari on a Mac", mac, 0, false, false],
            ["Chrome on Android", android, 5, undefined, false],
            ["a view inside another app, which can't install anything", iPhone, 5, undefined, false],
        ];
        for (const [what, userAgent, maxTouchPoints, standalone, expected] of cases) {
            equal(isIOSTab({ userAgent, maxTouchPoints, standalone }), expected, what);
        }
    },
};
