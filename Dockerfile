# One image for every process: `signalbox controlplane`, `gateway`, `migrate`.
FROM node:22-bookworm-slim AS web
WORKDIR /src/web
COPY web/package.json web/package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY web/ ./
RUN npm run build

FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY . .
COPY --from=web /src/controlplane/dashboard/dist controlplane/dashboard/dist
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /signalbox ./cmd/signalbox

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /signalbox /signalbox
USER 65532:65532
ENTRYPOINT ["/signalbox"]
