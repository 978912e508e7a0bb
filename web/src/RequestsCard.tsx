import { Badge, Card, Code, Table, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Log, ManagementClient } from "./api/client";
import { Failure } from "./Failure";

const colors: Record<Log["outcome"], string> = {
  success: "teal",
  error: "red",
  refused: "orange",
  canceled: "gray",
  unknown: "yellow",
};

/** The time of today's requests, date and time of older ones. */
function when(moment: string) {
  const at = new Date(moment);
  return at.toDateString() === new Date().toDateString() ? at.toLocaleTimeString() : at.toLocaleString();
}

/** The latest requests of the workspace. */
export function RequestsCard({ client }: { client: ManagementClient }) {
  const { data, error } = useQuery({
    queryKey: ["logs"],
    queryFn: async () => (await client.GET("/v1/logs", { params: { query: { limit: 20 } } })).data?.data ?? [],
  });
  return (
    <Card withBorder component="section" aria-labelledby="requests">
      <Title order={2} size="h4" id="requests" mb="sm">
        Latest requests
      </Title>
      <Failure error={error} />
      {data?.length === 0 && (
        <Text c="dimmed">Nothing yet. Send a request to the gateway with an API key; it shows up here within seconds.</Text>
      )}
      {data && data.length > 0 && (
        <Table.ScrollContainer minWidth={960}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>When</Table.Th>
                <Table.Th>Model</Table.Th>
                <Table.Th>Provider</Table.Th>
                <Table.Th>Outcome</Table.Th>
                <Table.Th>Time</Table.Th>
                <Table.Th>Cost (USD)</Table.Th>
                <Table.Th>Request</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {data.map((log) => (
                <Table.Tr key={log.id}>
                  <Table.Td>{when(log.started_at)}</Table.Td>
                  <Table.Td>{log.decided_model || log.requested_model || "–"}</Table.Td>
                  <Table.Td>{log.provider || "–"}</Table.Td>
                  <Table.Td>
                    <Badge variant="light" color={colors[log.outcome]}>
                      {log.code || log.outcome}
                    </Badge>
                  </Table.Td>
                  <Table.Td>{Math.round(log.duration_ms)} ms</Table.Td>
                  <Table.Td>{log.cost_usd}</Table.Td>
                  <Table.Td>
                    <Code>{log.id}</Code>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      <Text c="dimmed" size="sm">
        <Code>signalbox explain REQUEST_ID</Code> tells why a request went where it went.
      </Text>
    </Card>
  );
}
