// Package providers proves, in its tests, that fakes/llm speaks what the providers' own SDKs speak: each SDK reads every kind of
// answer and stream that the fake gives, and the requests that it builds are read as the conversation that they are.
package providers
