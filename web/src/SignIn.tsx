import { Button, Card, Code, Group, PasswordInput, Text, Title } from "@mantine/core";
import { type FormEvent, useState } from "react";

const shape = /^sb_mk_v1_[0-9a-z]{16}_[0-9A-Za-z]{43}$/;

/** Takes a management key. Sign-in with accounts takes its place later. */
export function SignIn({ onKey }: { onKey: (key: string) => void }) {
  const [key, setKey] = useState("");
  const [error, setError] = useState("");
  function submit(event: FormEvent) {
    event.preventDefault();
    const trimmed = key.trim();
    if (!shape.test(trimmed)) {
      setError("This is not a management key: it begins with sb_mk_v1_ and has two more parts.");
      return;
    }
    onKey(trimmed);
  }
  return (
    <Card withBorder component="section" aria-labelledby="sign-in">
      <Title order={2} size="h4" id="sign-in" mb="xs">
        See gateways and requests
      </Title>
      <Text c="dimmed" size="sm" mb="sm">
        Enter a management key of your workspace. <Code>signalbox dev</Code> prints one and writes it to{" "}
        <Code>.signalbox/dev.json</Code>. The key stays in this tab.
      </Text>
      <form onSubmit={submit}>
        <Group align="flex-start">
          <PasswordInput
            aria-label="Management key"
            placeholder="sb_mk_v1_…"
            value={key}
            error={error}
            onChange={(event) => setKey(event.currentTarget.value)}
            style={{ flexGrow: 1 }}
            autoComplete="off"
          />
          <Button type="submit">Show</Button>
        </Group>
      </form>
    </Card>
  );
}
