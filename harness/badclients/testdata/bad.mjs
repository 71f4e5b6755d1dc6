// Bad clients in JavaScript: the good one, with one thing about it changed. The first argument says which.
const how = process.argv[2];
const good = globalThis.fetch;
const isModel = (url) => String(url).endsWith("/native");

const changes = {
  // An exception in a handler that nobody waits for ends Node.
  "unhandled-rejection": async (url, init) => {
    if (isModel(url)) {
      Promise.reject(new TypeError("cannot read properties of undefined (reading 'content')"));
      return new Promise(() => {});
    }
    return good(url, init);
  },
  // Node's only thread is busy for ever.
  "busy-loop": async (url, init) => {
    if (isModel(url)) for (;;);
    return good(url, init);
  },
  // The process ends before what it has just sent is on its way.
  "exits-before-it-has-sent": async (url, init) => {
    if (init.body?.includes('"model"')) process.exit(0);
    return good(url, init);
  },
  // A timer keeps the process from ending.
  "never-ends": async (url, init) => {
    globalThis.timer ??= setInterval(() => {}, 1e6);
    return good(url, init);
  },
};

globalThis.fetch = changes[how];
await import("../../testdata/adapter.mjs");
