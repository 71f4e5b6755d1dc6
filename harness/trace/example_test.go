package trace_test

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// Record a trace, write it to a file, and read it again. Half of the file is an error.
func Example() {
	header := trace.Header{Revision: "2025-11-25", Cases: []trace.Case{{ID: "basic/text", Tool: "t1"}}}
	rec := trace.NewRecorder(header, 0)
	rec.Record(trace.Event{Process: &trace.Process{State: trace.Started}})
	request := rec.Record(trace.Event{Case: "basic/text",
		Frame: &trace.Frame{Dir: trace.ToClient, Raw: trace.Bytes(`{"method":"sampling/createMessage"}`)}})
	rec.Record(trace.Event{Case: "other/case", Mark: &trace.Mark{Name: trace.MarkHandlerStarted}})

	var file bytes.Buffer
	if err := rec.Stop().Write(&file); err != nil {
		panic(err)
	}
	half := bytes.NewReader(file.Bytes()[:file.Len()/2])
	saved, err := trace.Read(&file)
	if err != nil {
		panic(err)
	}
	fmt.Println(len(saved.Events), "events,", len(saved.For("basic/text").Events), "of them for basic/text")
	fmt.Println(string(saved.Find(request).Frame.Raw))

	_, err = trace.Read(half)
	fmt.Println(errors.Is(err, trace.ErrTruncated))
	// Output:
	// 3 events, 2 of them for basic/text
	// {"method":"sampling/createMessage"}
	// true
}
