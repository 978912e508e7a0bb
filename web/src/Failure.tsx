import { Alert } from "@mantine/core";
import { ProblemError } from "./api/client";

/** Says in one box why something could not be shown, or nothing. */
export function Failure({ error }: { error: Error | null }) {
  if (!error) return null;
  const code = error instanceof ProblemError ? error.code : "unreachable";
  return (
    <Alert color="red" title={code} mb="sm">
      {error.message}
    </Alert>
  );
}
