import { Badge, Card, Code, Table, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Gateway, ManagementClient } from "./api/client";
import { Failure } from "./Failure";

const colors: Record<Gateway["state"], string> = { live: "teal", stopped: "gray", gone: "red" };

/** The gateways that have been heard of, and what they serve. */
export function GatewaysCard({ client }: { client: ManagementClient }) {
  const { data, error } = useQuery({
    queryKey: ["gateways"],
    queryFn: async () => (await client.GET("/v1/gateways")).data?.data ?? [],
  });
  return (
    <Card withBorder component="section" aria-labelledby="gateways">
      <Title order={2} size="h4" id="gateways" mb="sm">
        Gateways
      </Title>
      <Failure error={error} />
      {data?.length === 0 && (
        <Text c="dimmed">
          No gateway has reported yet. Start one with <Code>signalbox gateway</Code>.
        </Text>
      )}
      {data && data.length > 0 && (
        <Table.ScrollContainer minWidth={500}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Address</Table.Th>
                <Table.Th>State</Table.Th>
                <Table.Th>Version</Table.Th>
                <Table.Th>Catalog</Table.Th>
                <Table.Th>Usage waiting</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {data.map((g) => (
                <Table.Tr key={g.id}>
                  <Table.Td>{g.address}</Table.Td>
                  <Table.Td>
                    <Badge variant="light" color={colors[g.state]}>
                      {g.stale ? `${g.state}, from disk` : g.state}
                    </Badge>
                  </Table.Td>
                  <Table.Td>{g.version}</Table.Td>
                  <Table.Td>{g.catalog_revision}</Table.Td>
                  <Table.Td>{g.spool_pending}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Card>
  );
}
