import createClient from "openapi-fetch";
import type { components, paths } from "./schema";

export type Gateway = components["schemas"]["Gateway"];
export type Log = components["schemas"]["Log"];

/** A failure of the management API, as its problem document told it. */
export class ProblemError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
  ) {
    super(detail);
  }
}

/** The typed management client for one management key. */
export function managementClient(key: string, fetch: typeof globalThis.fetch = globalThis.fetch) {
  const client = createClient<paths>({
    baseUrl: globalThis.location.origin,
    headers: { authorization: `Bearer ${key}` },
    fetch,
  });
  client.use({
    async onResponse({ response }) {
      if (response.ok) return;
      const problem = await response.json().catch(() => ({}));
      throw new ProblemError(
        response.status,
        problem.code ?? "unknown",
        problem.detail ?? `The control plane answered ${response.status}.`,
      );
    },
  });
  return client;
}

export type ManagementClient = ReturnType<typeof managementClient>;
