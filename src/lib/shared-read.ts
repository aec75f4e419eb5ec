/** Shares a call among concurrent callers: a caller that arrives while it runs gets its result. */
export function joined<T>(call: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined
  return () => {
    running ??= call().finally(() => {
      running = undefined
    })
    return running
  }
}

/**
 * Shares a read among concurrent callers. A call that arrives during a read waits for the next read, because the current one may have
 * begun before a change.
 */
export function sharedRead<T>(read: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | undefined
  let next: Promise<T> | undefined

  function begin(): Promise<T> {
    next = undefined
    const reading = read().finally(() => {
      if (current === reading) current = undefined
    })
    current = reading
    return reading
  }

  return () => {
    if (current === undefined) return begin()
    next ??= current.then(begin, begin)
    return next
  }
}
