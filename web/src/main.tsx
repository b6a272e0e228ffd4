import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { isWorthAnother, waitMs } from './retry.ts';

const HALF_A_MINUTE_MS = 30_000;

/** Figures stay until the ledger is newer: the server says when, so nothing is asked again on a whim. */
const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: HALF_A_MINUTE_MS,
      refetchOnWindowFocus: false,
      retry: isWorthAnother,
      retryDelay: waitMs,
      // A server on this machine answers also where the browser believes to be offline.
      networkMode: 'always',
    },
  },
});

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no #root');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
);
