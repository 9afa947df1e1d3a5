// Decides a message in a group of three: who gets a push, on which devices, and why others do not.
package main

// #cgo LDFLAGS: -lpushfanout
// #include <push_fanout.h>
// #include <stdlib.h>
import "C"

import (
	"errors"
	"fmt"
	"os"
	"unsafe"
)

const settings = `{"kind":"app","rules":"easemob","timeZone":"Asia/Shanghai"}
{"kind":"user","id":"ann","devices":[{"id":"phone"},{"id":"tablet"}]}
{"kind":"user","id":"ben","quietHours":{"start":"22:00","end":"08:00"}}
{"kind":"member","conversation":"g1","user":"ann"}
{"kind":"member","conversation":"g1","user":"ben"}
{"kind":"member","conversation":"g1","user":"cid"}
`

// The text of an error is handed over with the status: a goroutine may move to another thread
// between two calls, so nothing is kept by thread.
func check(status C.int, text *C.char) error {
	if status == C.PF_OK {
		return nil
	}
	defer C.pf_free(unsafe.Pointer(text))
	return fmt.Errorf("%s: %s", C.GoString(C.pf_status_name(status)), C.GoString(text))
}

func texts(ids *C.pf_ids) []string {
	defer C.pf_ids_free(ids)
	offsets := unsafe.Slice((*uint64)(unsafe.Pointer(ids.offsets)), int(ids.count)+1)
	characters := unsafe.Slice((*byte)(unsafe.Pointer(ids.bytes)), int(offsets[ids.count])+1)
	found := make([]string, ids.count)
	for index := range found {
		found[index] = string(characters[offsets[index]:offsets[index+1]])
	}
	return found
}

func decide() error {
	// Go's memory may not hold pointers to Go's memory while C uses it: texts are copied to C's.
	text := func(value string) C.pf_text {
		return C.pf_text{bytes: C.CString(value), size: C.size_t(len(value))}
	}
	var engine *C.pf_engine
	var answer *C.pf_answer
	var problem *C.char
	source := C.CString(settings)
	defer C.free(unsafe.Pointer(source))
	status := C.pf_open_bytes(
		unsafe.Pointer(source), C.size_t(len(settings)), nil, &engine, &problem)
	if err := check(status, problem); err != nil {
		return err
	}
	defer C.pf_close(engine)
	if err := check(C.pf_answer_new(engine, &answer, &problem), problem); err != nil {
		return err
	}
	defer C.pf_answer_free(answer)

	group, sender := text("g1"), text("cid")
	defer C.free(unsafe.Pointer(group.bytes))
	defer C.free(unsafe.Pointer(sender.bytes))
	// Once for each membership version: the ids by rank.
	var stamp C.pf_stamp
	var ids C.pf_ids
	status = C.pf_members(engine, group.bytes, group.size, &stamp, &ids, &problem)
	if err := check(status, problem); err != nil {
		return err
	}
	members := texts(&ids)

	message := (*C.pf_message)(C.calloc(1, C.sizeof_pf_message))
	defer C.free(unsafe.Pointer(message))
	message.struct_size = C.sizeof_pf_message
	message.conversation, message.sender = group, sender
	message.at = 1717426800000 // 23:00 in Shanghai
	if err := check(C.pf_decide(engine, message, answer, &problem), problem); err != nil {
		return err
	}
	var summary C.pf_summary
	if err := check(C.pf_answer_summary(answer, &summary, &problem), problem); err != nil {
		return err
	}
	if summary.stamp.epoch != stamp.epoch || summary.stamp.membership != stamp.membership {
		return errors.New("fetch the members again")
	}
	codes := make([]uint8, summary.members)
	var count C.size_t
	status = C.pf_answer_codes(
		answer, (*C.uint8_t)(unsafe.Pointer(&codes[0])), C.size_t(len(codes)), &count, &problem)
	if err := check(status, problem); err != nil {
		return err
	}
	for rank, code := range codes {
		var action, reason *C.char
		if C.pf_outcome(C.uint8_t(code), &action, &reason, nil) != C.PF_OK {
			fmt.Println(members[rank], "is not a recipient")
			continue
		}
		fmt.Printf("%s: %s, %s\n", members[rank], C.GoString(action), C.GoString(reason))
	}
	var targets C.pf_targets
	status = C.pf_answer_push_targets(answer, &targets, &problem)
	if err := check(status, problem); err != nil {
		return err
	}
	devices := texts(&targets.devices)
	C.pf_targets_free(&targets)
	for _, device := range devices {
		fmt.Println("push to", device)
	}
	return nil
}

func main() {
	if err := decide(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
