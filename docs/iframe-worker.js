// A page that is opened from disk may start no worker: there, its search runs in a frame.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(address) {
      const frame = document.createElement("iframe")
      const script = document.createElement("script")
      script.src = new URL(address, location.href)
      frame.hidden = true
      frame.title = "search"
      frame.srcdoc = script.outerHTML
      this.frame = frame
      this.loaded = new Promise(done => frame.addEventListener("load", done)).then(() => {
        frame.contentWindow.postMessage = data => this.onmessage?.({ data })
      })
      document.body.append(frame)
    }
    postMessage(data) {
      this.loaded.then(() => this.frame.contentWindow?.onmessage({ data: structuredClone(data) }))
    }
    terminate() {
      this.frame.remove()
    }
  }
}
