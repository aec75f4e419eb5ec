import { messageIn } from '../lib/thrown.ts'

/** Returns a handler that replaces the failure to read a file by an error with the argument and the path of the file. */
export function readFailure(argument: string, path: string): (failure: unknown) => never {
  return (failure) => {
    // Without a cause, whose message would repeat the reason.
    throw new Error(`${argument} names ${path}, which cannot be read: ${messageIn(failure)}`)
  }
}
