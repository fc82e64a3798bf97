// The HTTP stack of Go against the gateway, by host names: HTTP/2 by ALPN, as apns2 and firebase-admin for Go use it. Prints a line of
// JSON for each step.
package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

func send(url, body string, headers map[string]string) (int, string, string) {
	request, _ := http.NewRequest("POST", url, strings.NewReader(body))
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err.Error()
	}
	defer response.Body.Close()
	io.ReadAll(response.Body)
	return response.StatusCode, response.Proto, response.Header.Get("apns-id")
}

func main() {
	var group sync.WaitGroup
	var lock sync.Mutex
	good, last := true, ""
	for number := 0; number < 100; number++ {
		group.Add(1)
		go func() {
			defer group.Done()
			status, proto, id := send("https://api.push.apple.com/3/device/"+strings.Repeat("ab", 32), `{"aps":{"alert":"hi"}}`,
				map[string]string{"apns-topic": "com.example.shop", "apns-push-type": "alert"})
			lock.Lock()
			defer lock.Unlock()
			if status != 200 || proto != "HTTP/2.0" || id == "" {
				good, last = false, fmt.Sprint(status, " ", proto, " ", id)
			}
		}()
	}
	group.Wait()
	fmt.Printf("{\"step\":\"net/http, 100 at once over HTTP/2\",\"status\":200,\"good\":%v,\"last\":%q}\n", good, last)
	status, _, _ := send("https://fcm.googleapis.com/v1/projects/demo/messages:send",
		`{"message":{"token":"err-UNREGISTERED","data":{"a":"b"}}}`, nil)
	fmt.Printf("{\"step\":\"net/http, an error\",\"status\":%d,\"good\":%v}\n", status, status == 404)
}
