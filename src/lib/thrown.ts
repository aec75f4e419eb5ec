/**
 * The message of something that was thrown. Everything that the program and its packages throw is an `Error`. For a failed operation on a
 * file it is the reason without the path, such as `no such file or directory (ENOENT)`, because the message of a caller names the file.
 */
export function messageIn(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  return thrown.message.replace(fileFailure, (_, code: string, reason: string) => {
    return `${code === 'EISDIR' ? 'it is a directory' : reason} (${code})`
  })
}

/** The form of Node's messages for files: the code, the reason, the operation and the path. */
const fileFailure = /^(E[A-Z0-9]+): ([^,]+), \w+( '.*')?$/s
