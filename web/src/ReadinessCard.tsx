import { Alert, Badge, Card, Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { fetchReadiness } from "./readiness";

/** What the control plane needs, one line each. */
export function ReadinessCard() {
  const { data, error, isPending } = useQuery({ queryKey: ["readyz"], queryFn: () => fetchReadiness() });
  return (
    <Card withBorder component="section" aria-labelledby="readiness">
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h4" id="readiness">
          Control plane
        </Title>
        {data && <Badge color={data.ready ? "teal" : "red"}>{data.ready ? "ready" : "not ready"}</Badge>}
      </Group>
      {isPending && <Skeleton height={60} aria-label="Loading" />}
      {error && (
        <Alert color="red" title="The control plane does not answer">
          It is asked again every three seconds. Look at its log if this stays.
        </Alert>
      )}
      <Stack gap={6}>
        {data?.checks.map((check) => (
          <Group key={check.name} gap="xs" wrap="nowrap" align="baseline">
            <Badge variant="light" color={check.ok ? "teal" : "red"} w={70} style={{ flexShrink: 0 }}>
              {check.ok ? "ok" : "failed"}
            </Badge>
            <Text fw={500}>{check.name}</Text>
            <Text c="dimmed" size="sm">
              {check.detail}
            </Text>
          </Group>
        ))}
      </Stack>
    </Card>
  );
}
