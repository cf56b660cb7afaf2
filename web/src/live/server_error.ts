// A failure of the server, and what the reader can do about it.

export class ServerError extends Error {
  constructor(
    message: string,
    readonly code: string,
    readonly status: number,
    readonly retryAfter: number | null = null, // seconds, where the server says when to try again
  ) {
    super(message);
    this.name = 'ServerError';
  }
}

type Reason = { error?: { code?: unknown; message?: unknown } | string };

// {"error": {"code", "message"}} as the server writes it, or the plain text of a prediction.
export function errorIn(value: unknown, status: number, retryAfter: number | null = null): ServerError | null {
  const error = (value as Reason | null)?.error;
  if (typeof error === 'string') return new ServerError(error, 'prediction', status, retryAfter);
  if (!error || typeof error !== 'object') return null;
  const message = String(error.message ?? 'The server gave no reason.');
  return new ServerError(message, String(error.code ?? status), status, retryAfter);
}

// Retry-After (RFC 9110, section 10.2.3): seconds, or a date.
export function secondsOf(retryAfter: string | null, now: number): number | null {
  if (retryAfter === null || retryAfter.trim() === '') return null;
  if (/^\s*\d+\s*$/.test(retryAfter)) return Number(retryAfter);
  const time = Date.parse(retryAfter);
  return Number.isNaN(time) ? null : Math.max(0, Math.ceil((time - now) / 1000));
}

function later(seconds: number | null): string {
  if (seconds === null) return 'Try again in a moment.';
  if (seconds < 1) return 'Try again now.';
  return `Try again in ${seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} minutes`}.`;
}

const byCode: Record<string, string> = {
  beam_too_wide: 'Choose a smaller beam.',
  text_too_long: 'Shorten the text.',
  body_too_large: 'Shorten the text.',
  time_limit: 'Shorten the text, or choose a smaller beam.',
  no_model: 'Reload the page: the server may have other models by now.',
  unauthorised: 'Run again to enter the token.',
  request_timeout: 'Check the connection, and try again.',
  network: 'Is heed serve still running?',
};

// What to do, in one sentence; empty where the message of the server says it all.
export function adviceFor(error: ServerError): string {
  const known = byCode[error.code];
  if (known) return known;
  if (error.status === 429 || error.status === 503) return later(error.retryAfter);
  if (error.status === 401) return byCode.unauthorised!;
  if (error.status >= 500) return 'The log of the server says more.';
  return '';
}
