/** One thing that the control plane needs, and whether it is there. */
export interface Check {
  name: string;
  ok: boolean;
  detail: string;
}

export interface Readiness {
  ready: boolean;
  checks: Check[];
}

interface ReadyzBody {
  ready?: boolean;
  checks?: { name: string; ok: boolean; detail?: string }[];
}

/** Asks the control plane whether it is ready; a 503 is an answer, not a failure. */
export async function fetchReadiness(fetch: typeof globalThis.fetch = globalThis.fetch): Promise<Readiness> {
  const response = await fetch("/readyz?verbose");
  const body: ReadyzBody = await response.json();
  const checks = (body.checks ?? []).map((c) => ({
    name: c.name,
    ok: c.ok,
    detail: c.detail ?? "",
  }));
  return { ready: body.ready ?? response.ok, checks };
}
