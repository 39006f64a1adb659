// SPDX-License-Identifier: MIT

// Goroutines whose stacks are moved while calls are under way, that panic and recover, wait, and end in the middle of
// calls. It prints how often each function is called.
package main

import (
	"fmt"
	"runtime"
	"sync"
	"time"
)

//go:noinline
func deep(n int) int {
	var room [64]byte

	if n == 0 {
		return 0
	}
	room[n%64] = byte(n)
	return deep(n-1) + int(room[n%64])/(n%256+256) + 1
}

//go:noinline
func fails(n int) {
	if n == 0 {
		panic("as it should")
	}
	fails(n - 1)
}

//go:noinline
func recovers() (text string) {
	defer func() {
		text = fmt.Sprint(recover())
	}()
	fails(3)
	return "never"
}

//go:noinline
func waits() {
	time.Sleep(2 * time.Millisecond)
	runtime.Gosched()
}

//go:noinline
func leaves(end bool) {
	if end {
		runtime.Goexit()
	}
}

//go:noinline
func works(number int, done *sync.WaitGroup) {
	defer done.Done()
	if deep(1000) != 1000 {
		fmt.Println("deep is wrong")
	}
	if recovers() != "as it should" {
		fmt.Println("recovers is wrong")
	}
	waits()
	leaves(number%2 == 0)
}

func main() {
	var done sync.WaitGroup

	for i := 0; i < 20; i++ {
		done.Add(1)
		go works(i, &done)
		if i%5 == 0 {
			runtime.GC()
		}
	}
	done.Wait()
	fmt.Println("deep 20020 fails 80 leaves 20 recovers 20 waits 20 works 20")
}
