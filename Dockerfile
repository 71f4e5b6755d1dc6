# A small image with only mcp-conform. A client under test needs its own runtime: copy the program into your image,
#   COPY --from=mcp-conform /mcp-conform /usr/local/bin/
FROM golang:1-alpine AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 GOWORK=off go build -trimpath -ldflags="-s -w" -o /mcp-conform ./cmd/mcp-conform && mkdir -m 1777 /empty

FROM scratch
COPY --from=build /mcp-conform /mcp-conform
COPY --from=build --chown=65532:65532 /empty /tmp
COPY --from=build --chown=65532:65532 /empty /work
USER 65532:65532
WORKDIR /work
ENTRYPOINT ["/mcp-conform"]
CMD ["run"]
