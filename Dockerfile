# A small image with only mcp-conform. A client under test needs its own runtime: copy the program into your image,
#   COPY --from=mcp-conform /mcp-conform /usr/local/bin/
FROM golang:1-alpine AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# Any user may write to /tmp and /work: docker run --user, with a folder of that user, is common in CI.
RUN mkdir -p /image && mkdir -m 1777 /image/tmp /image/work && \
    CGO_ENABLED=0 GOWORK=off go build -trimpath -ldflags="-s -w" -o /image/ ./cmd/mcp-conform

FROM scratch
COPY --from=build /image /
USER 65532:65532
WORKDIR /work
ENTRYPOINT ["/mcp-conform"]
CMD ["run"]
