import { configure } from "@testing-library/react";

// A busy machine is slow, not wrong.
configure({ asyncUtilTimeout: 20_000 });

// jsdom lacks what Mantine asks of a browser.
window.matchMedia ??= (query: string) =>
  ({
    matches: false,
    media: query,
    addEventListener: () => {},
    removeEventListener: () => {},
    addListener: () => {},
    removeListener: () => {},
    dispatchEvent: () => false,
    onchange: null,
  }) as MediaQueryList;
window.ResizeObserver ??= class {
  observe() {}
  unobserve() {}
  disconnect() {}
};
