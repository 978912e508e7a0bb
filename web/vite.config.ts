import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// The control plane embeds the build and serves it at "/".
export default defineConfig({
  plugins: [react()],
  build: {
    outDir: "../controlplane/dashboard/dist",
    emptyOutDir: true,
    // One-page dashboard: no preload helper, so that the content security
    // policy needs no inline script.
    modulePreload: false,
  },
  server: { proxy: { "/v1": "http://127.0.0.1:8081", "/readyz": "http://127.0.0.1:8081" } },
  test: { environment: "jsdom", globals: true, testTimeout: 60_000, setupFiles: ["./src/setup.test-env.ts"] },
});
