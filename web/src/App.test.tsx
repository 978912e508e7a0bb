import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { App } from "./App";

const key = `sb_mk_v1_0123456789abcdef_${"A".repeat(43)}`;

interface Answer {
  status?: number;
  body: unknown;
}

/** Serves answers by path and remembers the authorization of each call. */
function serve(answers: Record<string, Answer>) {
  const seen: { path: string; authorization: string | null }[] = [];
  vi.stubGlobal("fetch", async (input: RequestInfo | URL) => {
    const request = input instanceof Request ? input : new Request(new URL(String(input), location.origin));
    const path = new URL(request.url).pathname;
    seen.push({ path, authorization: request.headers.get("authorization") });
    const answer = answers[path] ?? { status: 404, body: { code: "not_found", detail: "no such path" } };
    return Response.json(answer.body, { status: answer.status ?? 200 });
  });
  return seen;
}

function show() {
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  render(
    <QueryClientProvider client={queries}>
      <MantineProvider env="test">
        <App />
      </MantineProvider>
    </QueryClientProvider>,
  );
}

const ready = { body: { ready: true, checks: [{ name: "postgres", ok: true, detail: "reached" }] } };

beforeEach(() => sessionStorage.clear());
afterEach(() => {
  vi.unstubAllGlobals();
  document.body.innerHTML = "";
});

test("shows each readiness check, a failed one too", async () => {
  serve({
    "/readyz": {
      status: 503,
      body: { ready: false, checks: [{ name: "nats", ok: false, detail: "not connected" }] },
    },
  });
  show();
  expect(await screen.findByText("not ready")).toBeTruthy();
  expect(screen.getByText("nats")).toBeTruthy();
  expect(screen.getByText("not connected")).toBeTruthy();
});

test("refuses what cannot be a management key and sends nothing", async () => {
  const seen = serve({ "/readyz": ready });
  show();
  await userEvent.type(screen.getByLabelText("Management key"), "sb_v1_wrong");
  await userEvent.click(screen.getByText("Show"));
  expect(await screen.findByText(/not a management key/)).toBeTruthy();
  expect(seen.filter((call) => call.path !== "/readyz")).toEqual([]);
});

test("with a key, lists gateways and requests and sends the key only to the API", async () => {
  const seen = serve({
    "/readyz": ready,
    "/v1/gateways": {
      body: {
        data: [{ id: "gw_1", address: "127.0.0.1:8080", state: "live", version: "v1", catalog_revision: 3, spool_pending: 0 }],
        next_cursor: null,
      },
    },
    "/v1/logs": {
      body: {
        data: [
          {
            id: "req_1",
            started_at: "2026-01-02T03:04:05Z",
            outcome: "error",
            code: "upstream_timeout",
            requested_model: "acme/small",
            duration_ms: 12,
            cost_usd: "0.00",
          },
        ],
        next_cursor: null,
      },
    },
  });
  show();
  await userEvent.type(screen.getByLabelText("Management key"), key);
  await userEvent.click(screen.getByText("Show"));
  expect(await screen.findByText("127.0.0.1:8080")).toBeTruthy();
  expect(await screen.findByText("upstream_timeout")).toBeTruthy();
  expect(screen.getByText("req_1")).toBeTruthy();
  await waitFor(() => expect(seen.some((call) => call.authorization === `Bearer ${key}`)).toBe(true));
  expect(seen.filter((call) => call.path === "/readyz").every((call) => call.authorization === null)).toBe(true);
});

test("says why when the key is refused", async () => {
  sessionStorage.setItem("signalbox.management_key", key);
  const refused = { status: 401, body: { code: "unauthorized", detail: "The key was revoked." } };
  serve({ "/readyz": ready, "/v1/gateways": refused, "/v1/logs": refused });
  show();
  await waitFor(() => expect(screen.queryAllByText("The key was revoked.").length).toBe(2));
});
