typedef int mr_placeholder;
