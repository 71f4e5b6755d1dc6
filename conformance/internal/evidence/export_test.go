package evidence

// Pair is exported for tests.
var Pair = pair
