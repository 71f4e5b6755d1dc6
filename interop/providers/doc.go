// Package providers proves in its tests that fakes/llm speaks the wire formats of the providers: their SDKs read every
// kind of answer and stream of the fake, and the fake reads the conversations that the SDKs send. It has no code of
// its own.
package providers
