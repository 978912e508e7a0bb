import { Anchor, Button, Container, Group, Stack, Title } from "@mantine/core";
import { useMemo, useState } from "react";
import { managementClient } from "./api/client";
import { GatewaysCard } from "./GatewaysCard";
import { ReadinessCard } from "./ReadinessCard";
import { RequestsCard } from "./RequestsCard";
import { SignIn } from "./SignIn";
import { session } from "./session";

/** The status page: readiness for everybody, gateways and requests with a key. */
export function App() {
  const [key, setKey] = useState(session.read);
  const client = useMemo(() => (key ? managementClient(key) : null), [key]);
  function signIn(fresh: string) {
    session.write(fresh);
    setKey(fresh);
  }
  function signOut() {
    session.clear();
    setKey("");
  }
  return (
    <Container component="main" size="lg" py="xl">
      <Group justify="space-between" mb="lg">
        <Title order={1} size="h2">
          Signalbox
        </Title>
        <Group>
          <Anchor href="/docs">API reference</Anchor>
          {client && (
            <Button variant="subtle" onClick={signOut}>
              Forget key
            </Button>
          )}
        </Group>
      </Group>
      <Stack>
        <ReadinessCard />
        {client ? (
          <>
            <GatewaysCard client={client} />
            <RequestsCard client={client} />
          </>
        ) : (
          <SignIn onKey={signIn} />
        )}
      </Stack>
    </Container>
  );
}
